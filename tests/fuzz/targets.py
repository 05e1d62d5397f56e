"""All that takes inputs, and how many of a million each gets."""

from __future__ import annotations

import inputs
from of_commands import command, run_command
from of_devices import learn_on_device, some_device
from of_explorer import ask, kept_session, on_the_wire, reopen_session, request, send_bytes
from of_gaps import gapped, learn_with_gaps
from of_networks import read_graph, read_network, through_formats
from of_searches import certified, certify_well, score_objective, search, search_well
from of_studies import damage, read_design, use_results
from of_tables import (
    check_table,
    read_and_scan,
    read_anything,
    read_cells,
    read_levels,
    read_tiers,
    read_values,
    some_options,
    some_scan,
    written_values,
)
from target import Target

import mapdag as md

TARGETS = (
    Target("cells of tables", inputs.table, read_cells, 312_000),
    Target("values of cells", written_values, read_values, 15_000),
    Target("tables with options", some_options, read_anything, 100_000),
    Target("compressed and columnar", inputs.packed, md.read, 60_000),
    Target("scans of tables", some_scan, read_and_scan, 10_000),
    Target("checks of tables", inputs.table, check_table, 30_000),
    Target("files of levels", inputs.document, read_levels, 30_000),
    Target("files of tiers", inputs.document, read_tiers, 50_000),
    Target("networks", inputs.network, read_network, 180_000),
    Target("graphs", inputs.graph, read_graph, 120_000),
    Target("hostile names", lambda rng: rng.sample(inputs.HOSTILE, 3), through_formats, 500),
    Target("objectives", inputs.objective, score_objective, 30_000),
    Target("designs", inputs.design, read_design, 25_000),
    Target("results of studies", damage, use_results, 3_000),
    Target("requests to the explorer", request, ask, 15_000),
    Target("sessions of the explorer", kept_session, reopen_session, 3_000),
    Target("bytes to the explorer", on_the_wire, send_bytes, 3_000),
    Target("command lines", command, run_command, 10_000, seconds=None),
    Target("searches", search, search_well, 1_000, seconds=None),
    Target("proofs", certified, certify_well, 500, seconds=None),
    Target("rows with gaps", gapped, learn_with_gaps, 1_000, seconds=None),
    Target("devices", some_device, learn_on_device, 1_000, seconds=None),
)
