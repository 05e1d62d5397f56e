# module_name is the name of this folder; Benchpress' Snakefile sets it.
rule:
    name:
        module_name
    input:
        data = alg_input_data()
    output:
        adjmat = alg_output_adjmat_path(module_name),
        time = alg_output_time_path(module_name),
        ntests = alg_output_ntests_path(module_name)
    container:
        None  # runs where Snakemake runs; or an image built from the Dockerfile beside this file
    script:
        "script.py"
