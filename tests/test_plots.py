"""Pictures of graphs: where things are, what the files hold, what notebooks show."""

import sys
import xml.etree.ElementTree as ET
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mapdag as md
from mapdag.plots import arrangement
from mapdag.plots.arrangement import BOX_HEIGHT, arrange
from mapdag.plots.canvas import families_for
from mapdag.plots.crossings import count_crossings, reduce_crossings
from mapdag.plots.drawing import Link, compose, thickness
from mapdag.plots.fonts import FONT_SIZE, LONGEST, text_width
from mapdag.plots.graphs import draw, to_svg
from mapdag.plots.layers import assign_layers
from mapdag.wording import shortened

SVG = "{http://www.w3.org/2000/svg}"
NASTY = ["<script>alert(1)</script>", "say \"no\" & 'yes'", "$x_1$ \\frac", "line\nbreak\x01", "病気", "x" * 80]


@st.composite
def acyclic(draw):
    n = draw(st.integers(1, 14))
    pairs = list(combinations(range(n), 2))
    return n, draw(st.lists(st.sampled_from(pairs), unique=True, max_size=30)) if pairs else []


@pytest.fixture(scope="module")
def result():
    return md.learn(md.network("asia").sample(1500, seed=2))


@given(acyclic(), st.data(), st.booleans())
def test_boxes_never_overlap_and_arcs_go_down(graph, data, is_large):
    n, edges = graph
    widths = data.draw(st.lists(st.floats(20, 200), min_size=n, max_size=n))
    with pytest.MonkeyPatch.context() as patch:
        if is_large:
            patch.setattr(arrangement, "_OPTIMAL", -1)
        layout = arrange(widths, edges)
    for a, b in edges:
        assert layout.places[a][1] + BOX_HEIGHT < layout.places[b][1]
    for i, j in combinations(range(n), 2):
        (x, y), (u, v) = layout.places[i], layout.places[j]
        assert abs(y - v) >= BOX_HEIGHT or abs(x - u) >= (widths[i] + widths[j]) / 2 - 1e-6
    for (x, y), width in zip(layout.places, widths, strict=True):
        assert width / 2 <= x <= layout.width - width / 2
        assert BOX_HEIGHT / 2 <= y <= layout.height - BOX_HEIGHT / 2


@given(acyclic(), st.data())
def test_boxes_placed_by_forces_never_overlap(graph, data):
    n, edges = graph
    widths = data.draw(st.lists(st.floats(20, 200), min_size=n, max_size=n))
    layout = arrange(widths, edges, layered=False)
    for i, j in combinations(range(n), 2):
        (x, y), (u, v) = layout.places[i], layout.places[j]
        assert abs(y - v) >= BOX_HEIGHT or abs(x - u) >= (widths[i] + widths[j]) / 2 - 1e-6
    for (x, y), width in zip(layout.places, widths, strict=True):
        assert width / 2 <= x <= layout.width - width / 2
        assert BOX_HEIGHT / 2 <= y <= layout.height - BOX_HEIGHT / 2
    assert layout == arrange(widths, edges, layered=False)


@given(acyclic())
def test_long_arcs_pass_between_boxes(graph):
    n, edges = graph
    widths = [60.0] * n
    layout = arrange(widths, edges)
    for route in layout.routes:
        for (x, top), (same, bottom) in zip(route[::2], route[1::2], strict=True):
            assert x == same
            assert bottom - top == pytest.approx(BOX_HEIGHT)
            beside = [u for u, v in layout.places if abs(v - (top + bottom) / 2) < BOX_HEIGHT]
            assert all(abs(x - u) > 30 for u in beside)


@given(acyclic())
def test_layers_are_as_tight_as_can_be(graph):
    n, edges = graph
    layered = assign_layers(n, edges)
    assert layered.n_real == n
    for chain in layered.chains:
        assert [layered.layer[b] - layered.layer[a] for a, b in pairwise(chain)] == [1] * (len(chain) - 1)
    # No single node could move and shorten the arcs.
    layer = np.array(layered.layer[:n])

    def length(at):
        spans = [at[b] - at[a] for a, b in edges]
        return sum(spans) if all(span >= 1 for span in spans) else np.inf

    best = length(layer)
    for node in range(n):
        for step in (-1, 1):
            moved = layer.copy()
            moved[node] += step
            assert length(moved) >= best


@given(acyclic())
def test_refining_never_adds_crossings(graph):
    n, edges = graph
    layered = assign_layers(n, edges)
    rows = [[v for v, each in enumerate(layered.layer) if each == i] for i in range(max(layered.layer) + 1)]
    better = reduce_crossings(rows, layered.links)
    assert [sorted(row) for row in better] == [sorted(row) for row in rows]
    assert count_crossings(better, layered.links) <= count_crossings(rows, layered.links)


def test_the_same_graph_makes_the_same_picture():
    dag = md.network("alarm").dag
    assert to_svg(dag) == to_svg(md.DAG(dag.nodes, dag.arcs))


def test_a_large_network_is_laid_out_whole():
    dag = md.network("pigs").dag
    drawing = draw(dag)
    assert len(drawing.boxes) == len(dag.nodes)
    assert {(line.link.start, line.link.end) for line in drawing.lines} == set(dag.arcs)


@pytest.mark.parametrize("name", ["andes", "diabetes", "pigs", "munin1"])
def test_a_drawing_for_a_window_fills_it_where_layers_would_not(name):
    dag, window = md.network(name).dag, (1230.0, 720.0)
    layers, fitted = draw(dag), draw(dag, window=window)
    scale = lambda drawing: min(window[0] / drawing.width, window[1] / drawing.height)  # noqa: E731
    assert scale(fitted) > 1.4 * scale(layers)
    assert 1.0 < fitted.width / fitted.height < 2.6
    boxes = {box.name: box for box in fitted.boxes}
    for line in fitted.lines:
        end, (x, y) = boxes[line.link.end], line.head[0]
        inside = abs(x - end.x) <= end.width / 2 + 1e-6 and abs(y - end.y) <= end.height / 2 + 1e-6
        border = max(abs(x - end.x) / end.width, abs(y - end.y) / end.height)
        assert inside
        assert border == pytest.approx(0.5)


def test_a_graph_that_fits_stays_in_layers():
    dag = md.network("alarm").dag
    assert draw(dag, window=(1230.0, 720.0)) == draw(dag)


def test_a_dense_graph_is_drawn_in_reasonable_time():
    names = [f"X{i}" for i in range(60)]
    rng = np.random.default_rng(1)
    arcs = [(a, b) for a, b in combinations(names, 2) if rng.random() < 0.3]
    assert len(draw(md.DAG(names, arcs)).lines) == len(arcs) > 400


def test_curves_begin_and_end_at_their_boxes():
    drawing = draw(md.network("alarm").dag)
    boxes = {box.name: box for box in drawing.boxes}
    for line in drawing.lines:
        start, end = boxes[line.link.start], boxes[line.link.end]
        assert line.begin[1] == pytest.approx(start.y + start.height / 2)
        assert abs(line.begin[0] - start.x) <= start.width / 2
        tip = line.head[0]
        assert tip[1] == pytest.approx(end.y - end.height / 2)
        assert abs(tip[0] - end.x) <= end.width / 2


def test_an_arc_against_the_order_is_drawn_upwards():
    drawing = compose(["A", "B"], [Link("B", "A")], ["A", "B"])
    line, (a, b) = drawing.lines[0], drawing.boxes
    assert a.y < b.y
    assert line.begin[1] == pytest.approx(b.y - b.height / 2)
    assert line.head[0][1] == pytest.approx(a.y + a.height / 2)


def test_reversible_arcs_look_different(result):
    kinds = {(line.link.start, line.link.end): line.link.kind for line in draw(result).lines}
    assert {arc for arc, kind in kinds.items() if kind == "reversible"} == set(result.reversible)
    assert {arc for arc, kind in kinds.items() if kind == "compelled"} == set(result.compelled)
    svg = ET.fromstring(to_svg(result))
    dashed = [path for path in svg.iter(f"{SVG}path") if path.get("stroke-dasharray")]
    assert len(dashed) == len(result.reversible) > 0


def test_edges_of_a_class_have_no_heads(result):
    drawing = draw(result.cpdag)
    without = {frozenset((line.link.start, line.link.end)) for line in drawing.lines if line.head is None}
    assert without == {frozenset(edge) for edge in result.cpdag.edges}


def test_a_class_without_dag_can_be_drawn():
    square = [("A", "B"), ("B", "C"), ("C", "D"), ("D", "A")]
    drawing = draw(md.CPDAG(list("ABCD"), edges=square))
    assert len(drawing.lines) == 4


def test_strong_arcs_are_thick(result):
    strengths = md.bootstrap(result.data, R=5, seed=1)
    index = strengths.nodes.index
    for line in draw(result, bootstrap=strengths).lines:
        strength = strengths.strength[index(line.link.start), index(line.link.end)]
        assert line.link.width == pytest.approx(thickness(strength))
    with pytest.raises(md.errors.ParameterError, match="bootstrap must be of the same data"):
        draw(md.network("cancer").dag, bootstrap=strengths)


def test_files_are_what_their_names_say(result, tmp_path):
    starts = {"svg": b"<svg", "png": b"\x89PNG", "pdf": b"%PDF"}
    for ending, start in starts.items():
        for name, graph in {"result": result, "dag": result.dag, "cpdag": result.cpdag}.items():
            path = tmp_path / f"{name}.{ending.upper()}"
            graph.plot(path)
            assert path.read_bytes().startswith(start)
    again = tmp_path / "again.pdf"
    result.plot(again)
    assert again.read_bytes() == (tmp_path / "result.PDF").read_bytes()
    with pytest.raises(md.errors.ParameterError, match=r"\.svg, \.png, \.pdf"):
        result.plot(tmp_path / "graph.jpg")
    with pytest.raises(md.errors.ParameterError, match="graph must be a DAG"):
        to_svg("asia")


def test_any_name_can_be_drawn(tmp_path):
    dag = md.DAG(NASTY, list(pairwise(NASTY)))
    svg = ET.fromstring(to_svg(dag))
    titles = [title.text for title in svg.iter(f"{SVG}title")]
    assert titles == [name.replace("\x01", "\ufffd") for name in NASTY]
    assert not list(svg.iter(f"{SVG}script"))
    labels = [text.text for text in svg.iter(f"{SVG}text")]
    assert all(len(label) <= LONGEST and label.isprintable() for label in labels)
    plain = md.DAG([name for name in NASTY if name.isascii()])  # the font that comes with matplotlib lacks the other
    plain.plot(tmp_path / "nasty.png")


def test_long_labels_keep_both_ends():
    text = shortened("abcdefghijklmnopqrstuvwxyz_0123456789", LONGEST)
    assert len(text) == LONGEST
    assert text.startswith("abc")
    assert text.endswith("789")


def test_empty_graphs_are_drawn():
    assert to_svg(md.DAG([])).startswith("<svg")
    assert to_svg(md.DAG(["A", "B"])).count('class="node"') == 2


def test_notebooks_show_a_picture(result):
    for each in (result.dag, result.cpdag, result, result.fit()):
        assert each._repr_svg_().startswith("<svg")
        assert each._repr_svg_() in each.plot().svg
        assert "max-width:none" in each._repr_html_()  # notebooks would squeeze it
        assert 'stroke="currentColor"' in each._repr_html_()  # and may be dark
    html = result._repr_html_()
    assert "<svg" in html
    assert str(result.objective) in html
    assert "<style" not in html
    assert "<script" not in html
    large = md.network("pigs")
    assert large.dag._repr_svg_() is None
    assert large.dag._repr_html_() is None
    assert "and 421 more" in large._repr_html_()


def test_without_a_path_the_picture_is_returned(result):
    picture = result.plot()
    assert repr(picture) == "Picture(title='Graph with 8 nodes and 7 arcs')"
    assert ET.fromstring(picture.svg).tag == f"{SVG}svg"
    assert ET.fromstring(picture._repr_html_()).get("class") == "tex2jax_ignore mathjax_ignore"
    assert md.DAG(["A", "B"], [("A", "B")]).plot().title == "Graph with 2 nodes and 1 arc"
    strengths = md.bootstrap(result.data, R=5)
    assert result.plot(bootstrap=strengths).svg != picture.svg


SCRIPTS = ["Возраст", "ЩЖЮ щжюмф", "Ηλικία ΨΩ", "العمر عند التشخيص", "גיל", "năm tuổi"]


def test_names_in_many_scripts_are_drawn_with_the_fonts_at_hand(tmp_path, recwarn):
    for ending in ("png", "pdf", "svg"):
        md.DAG(SCRIPTS).plot(tmp_path / f"scripts.{ending}")
    assert not recwarn.list


@pytest.mark.parametrize("name", SCRIPTS)
def test_boxes_are_wide_enough_for_names_in_any_script(name):
    from matplotlib import font_manager
    from matplotlib.ft2font import FT2Font

    font = FT2Font(font_manager.findfont("DejaVu Sans"))
    font.set_size(FONT_SIZE * 0.92, 72)
    font.set_text(name)
    assert font.get_width_height()[0] / 64 < text_width(name) + 20


def tiny_font(path, letters):
    """Make a font with a square for each of some letters."""
    from fontTools.fontBuilder import FontBuilder
    from fontTools.pens.ttGlyphPen import TTGlyphPen

    pen = TTGlyphPen(None)
    pen.moveTo((0, 0))
    for corner in ((0, 700), (700, 700), (700, 0)):
        pen.lineTo(corner)
    pen.closePath()
    names = [".notdef", *(f"u{ord(letter):04X}" for letter in letters)]
    builder = FontBuilder(1000, isTTF=True)
    builder.setupGlyphOrder(names)
    builder.setupCharacterMap(dict(zip(map(ord, letters), names[1:], strict=True)))
    builder.setupGlyf(dict.fromkeys(names, pen.glyph()))
    builder.setupHorizontalMetrics(dict.fromkeys(names, (1000, 0)))
    builder.setupHorizontalHeader(ascent=800, descent=-200)
    builder.setupNameTable({"familyName": path.stem, "styleName": "Regular"})
    builder.setupOS2()
    builder.setupPost()
    builder.save(path)


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Install fonts that only this test has."""
    from matplotlib import font_manager

    monkeypatch.setattr(font_manager.fontManager, "ttflist", list(font_manager.fontManager.ttflist))

    def install(**fonts):
        for name, letters in fonts.items():
            tiny_font(tmp_path / f"{name}.ttf", letters)
        paths = [str(tmp_path / f"{name}.ttf") for name in fonts]
        monkeypatch.setattr(font_manager, "findSystemFonts", lambda *_, **__: paths)

    return install


def test_letters_that_matplotlib_lacks_come_from_what_is_installed(installed, tmp_path, recwarn):
    installed(OneOfThem="病", BothSans="病気", Other="ไ")
    assert families_for(["病気", "age"]) == ["sans-serif", "BothSans"]
    assert families_for(["病ไ"])[1:] == ["BothSans", "Other"]
    for ending in ("png", "pdf"):
        md.DAG(["病気", "age"]).plot(tmp_path / f"graph.{ending}")
    assert not recwarn.list


def test_letters_that_no_font_has_are_named_once(installed, tmp_path):
    installed(Half="病")
    with pytest.warns(md.errors.MapdagWarning, match=r"drawn as boxes: 気\. .*write \.svg") as told:
        md.DAG(["病気", "気", "age"]).plot(tmp_path / "graph.png")
    assert len(told) == 1
    md.DAG(["病気"]).plot(tmp_path / "graph.svg")


def test_large_graphs_are_not_squeezed_in_png(tmp_path):
    names = [f"node number {i}" for i in range(120)]
    path = tmp_path / "wide.png"
    md.DAG(["root", *names], [("root", name) for name in names]).plot(path)
    width = int.from_bytes(path.read_bytes()[16:20], "big")
    assert width >= 120 * 80  # a pixel per point at least: letters are as large as on a screen


def test_without_igraph_the_extra_is_named(result, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "igraph", None)
    with pytest.raises(md.errors.MissingExtraError, match=r"pip install 'mapdag\[plots\]'"):
        result.plot(tmp_path / "dag.svg")
    assert result.dag._repr_svg_() is None
    assert "<svg" not in result._repr_html_()
    assert "compelled" in result._repr_html_()


def test_without_matplotlib_the_extra_is_named(result, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(md.errors.MissingExtraError, match=r"pip install 'mapdag\[plots\]'"):
        result.plot(tmp_path / "dag.png")
    result.plot(tmp_path / "dag.svg")
