"""All that takes inputs, and how many of a million each gets."""

from __future__ import annotations

import inputs
from of_columns import column, read_column
from of_commands import command, run_command
from of_devices import learn_on_device, some_device
from of_explorer import ask, kept_session, on_the_wire, reopen_session, request, send_bytes
from of_gaps import gapped, learn_with_gaps
from of_networks import read_graph, read_network, through_formats
from of_searches import certified, certify_well, score_objective, search, search_well
from of_sizes import large, read_large
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
    Target("cells of tables", inputs.table, read_cells, 200_000),
    Target("values of cells", written_values, read_values, 12_000),
    Target("columns in memory", column, read_column, 5_000),
    Target("tables with options", some_options, read_anything, 50_000),
    Target("compressed and columnar", inputs.packed, md.read, 30_000),
    Target("scans of tables", some_scan, read_and_scan, 5_000),
    Target("checks of tables", inputs.table, check_table, 10_000),
    Target("files of levels", inputs.document, read_levels, 15_000),
    Target("files of tiers", inputs.document, read_tiers, 30_000),
    Target("networks", inputs.network, read_network, 320_000),
    Target("graphs", inputs.graph, read_graph, 225_000),
    Target("large files", large, read_large, 2_000),
    Target("hostile names", lambda rng: rng.sample(inputs.HOSTILE, 3), through_formats, 300),
    Target("objectives", inputs.objective, score_objective, 30_000),
    Target("designs", inputs.design, read_design, 48_100),
    Target("results of studies", damage, use_results, 2_000),
    Target("requests to the explorer", request, ask, 7_000),
    Target("sessions of the explorer", kept_session, reopen_session, 2_500),
    Target("bytes to the explorer", on_the_wire, send_bytes, 2_500),
    Target("command lines", command, run_command, 10_100, seconds=None),
    Target("searches", search, search_well, 300, seconds=None),
    Target("proofs", certified, certify_well, 200, seconds=None),
    Target("rows with gaps", gapped, learn_with_gaps, 300, seconds=None),
    Target("devices", some_device, learn_on_device, 200, seconds=None),
)
