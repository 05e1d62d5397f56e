"""Words of R bnlearn, pgmpy, pyAgrum, scikit-learn and pandas, and what the same things are called here: tables only.

They serve hints, never as other names: what is taken is what is documented.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType


def _table(**lines: str) -> Mapping[str, str]:
    """Return what each word stands for, given the words of each thing."""
    return MappingProxyType({word: here for here, words in lines.items() for word in words.split()})


def _words(**lines: str) -> Mapping[str, tuple[str, ...]]:
    """Return what each word may stand for, in the order of the lines."""
    words = {word for line in lines.values() for word in line.split()}
    return MappingProxyType(
        {word: tuple(here for here, line in lines.items() if word in line.split()) for word in sorted(words)}
    )


#: Words for options, by the option here; what a word of several lines means depends on which of them a function has.
OPTIONS = _words(
    forbidden="blacklist black_list bl forbid forbidden_arcs forbidden_edges excluded banned",
    required="whitelist wl fixed_edges fixed require required_arcs required_edges mandatory mandatory_arcs",
    max_parents="maxp max_indegree indegree max_in_degree fan_in max_fan_in maxparents parents_limit",
    start="start_dag start_graph initial_graph initial_dag init",
    method="estimator estimation parameter_estimator",
    search="algorithm method methodtype algo estimator learner strategy",
    objective="score scoring scoring_method scoretype score_type scoring_function score_function local_score criterion",
    alpha="iss ess equivalent_sample_size imaginary_sample_size sample_size_prior",
    memory="tabu tabu_length tabu_size tabu_list_size tabulist",
    patience="max_tabu max_fruitless n_iter_no_change",
    restarts="restart n_restarts num_restarts random_restarts n_init",
    max_iter="max_iterations maxiter iterations n_iter",
    time_limit="timeout max_time time_out time",
    tiers="temporal_order temporal_ordering slice_order sliceorder ordering",
    threads="n_jobs jobs njobs cluster n_threads num_threads workers cores ncores",
    seed="random_state random_seed rng rng_seed",
    progress="verbose show_progress debug progress_bar show_progress_bar tqdm",
    folds="k cv n_splits n_folds nfolds kfold fold",
    R="replicates n_bootstrap n_boot nboot n_resamples n_samples bootstraps B",
    levels="state_names states domains categories modalities labels",
    weights="sample_weight sample_weights weight freq frequencies counts",
    groups="group cluster clusters cluster_id grouping id_column subject",
    weighting="weight_type weights_type weight_kind",
    missing="na_action dropna na handle_missing complete_samples_only",
    missing_values="na_values na_strings null_values missing_marker missing_symbols",
    discretize="discretise discretization discretizer n_bins nbins bins breaks",
    separator="sep delimiter delim field_separator",
    drop="exclude ignore drop_columns ignore_columns skip_columns index_col",
    bins="breaks n_bins nbins k",
    columns="cols variables features",
)

_NO_TESTS = "there are no tests of independence here: graphs are found by their scores"

#: Words whose meaning is not quite that of an option here, or that nothing here stands for.
REMARKS = MappingProxyType(
    {
        "white_list": "it lists the only arcs that may be there: forbid the others, "
        "forbidden=[(a, b) for a in names for b in names if a != b and (a, b) not in white_list]; "
        "arcs that must be there are required=",
        "expert_knowledge": "give required=, forbidden= and tiers= one by one",
        "use_cache": "scores of families are always kept; leave it out",
        "cache": "scores of families are always kept; leave it out",
        "optimized": "there is nothing to switch off; leave it out",
        "epsilon": "a search goes on as long as anything gains; max_iter= and time_limit= end it earlier",
        **dict.fromkeys(("ci_test", "test", "significance_level", "max_cond_vars"), _NO_TESTS),
        "return_type": "a Result has both: .dag and .cpdag",
        "root_node": "there are no trees here: max_parents=1 gives forests",
        "class_node": 'mapdag.sklearn.BayesianNetworkClassifier(structure="naive") is naive Bayes',
        "loss": "objectives are compared by the log-likelihood of held-out rows; with target=, by predictions, too",
        "runs": "one run of all folds; other folds by another seed=",
        "algorithm_args": "give the options themselves",
        "undirected": "classes of equivalent graphs are counted anyway",
        "pseudo_counts": "alpha= is spread evenly over the cells",
        "prior_type": 'method="bayes" is the prior of BDeu, with alpha=',
        "header": "the first line of a file holds the names",
        "target": "a network has none: fit it, and predict any of its columns",
        "usecols": "name those to leave out by drop=",
        "dtype": "values are read as labels; declare their order by levels=",
        "search": "this function is one search: mapdag.learn takes search=",
    }
)

#: Scores by their names elsewhere, in lower case without "score" at the end; those of R bnlearn are for discrete data.
SCORES = _table(
    BDeu="bde bdeu bayesian_dirichlet",
    BDs="bds",
    K2="k2",
    BDJ="bdj jeffreys",
    BIC="bic bic-d bic_d bicd mdl schwarz",
    AIC="aic aic-d aic_d aicd",
    LogLik="loglik ll ll-d log2 log-likelihood log_likelihood loglikelihood likelihood",
    eBIC="ebic",
    fNML="fnml nml",
    qNML="qnml",
)
_GAUSSIAN = (
    "it is for continuous data; here these are cut into intervals (discretize=), and any score is for categories"
)
NO_SCORES = MappingProxyType(
    {
        "mbde": "it is for data of experiments, which no score here is for; without them it is BDeu",
        "bdla": "locally averaged BDe is not here; BDs is what comes closest",
        "pred-loglik": "mapdag.cross_validate compares objectives by held-out log-likelihood",
        "custom-score": "mapdag.Custom makes a likelihood of one's own function",
        "custom": "mapdag.Custom makes a likelihood of one's own function",
        **dict.fromkeys(
            ("bge", "bic-g", "aic-g", "loglik-g", "ebic-g", "ll-g", "bic-cg", "aic-cg", "ll-cg"), _GAUSSIAN
        ),
    }
)

#: Priors of R bnlearn's option `prior`, as terms of an objective; {} is its `beta`.
PRIORS = MappingProxyType({"uniform": "U", "marginal": "MU(beta={})", "vsp": "VSP(beta={})"})

SEARCHES = _table(
    hc="hc hill_climb hillclimb hillclimbing hill_climbing hillclimbsearch greedy greedyhillclimbing ghc",
    tabu="tabu tabusearch localsearchwithtabulist tabu_search",
    exact="exact ex exhaustive exhaustivesearch dynamic_programming",
    orders="orders order ges gesearch boss",
)
ESTIMATORS = _table(
    mle="mle ml maximumlikelihoodestimator maximum_likelihood",
    bayes="bayes bayesian bayesianestimator",
)

#: Names of functions and classes elsewhere, and the line that does the same here.
NAMES = _table(
    **{
        "mapdag.hill_climb(data)": "hc HillClimbSearch HillClimb greedy_search useGreedyHillClimbing",
        "mapdag.learn(data)": "structure_learning BNLearner GES ges PC pc gs iamb mmhc rsmax2 StructureEstimator "
        "fit_structure learn_structure pc_stable",
        'mapdag.learn(data, search="exact")': "ExhaustiveSearch exhaustive_search",
        "mapdag.tabu(data)": "TabuSearch tabu_search useLocalSearchWithTabuList",
        "mapdag.fit(dag, data)": "bn_fit bnfit parameter_learning MaximumLikelihoodEstimator BayesianEstimator "
        "custom_fit TabularCPD learnParameters",
        "mapdag.structural_em(data)": "structuralem SEM sem",
        "mapdag.fit_em(dag, data)": "ExpectationMaximization EMEstimator em useEM",
        "mapdag.impute(network, data)": "imputation fill_gaps fillna mice",
        "mapdag.pool_estimates(estimates, variances)": "pool rubin pool_scalar",
        "mapdag.PNAL()": "pnal",
        "mapdag.NAL()": "nal",
        "mapdag.read(file)": "read_csv read_table read_parquet read_excel read_data DataFrame load_data",
        "mapdag.read_network(file)": "BIFReader XMLBIFReader UAIReader NETReader read_bif read_net loadBN load "
        "load_network import_bif",
        "mapdag.write_network(network, file)": "BIFWriter XMLBIFWriter UAIWriter NETWriter write_bif write_net "
        "saveBN save save_network export_bif",
        "mapdag.bootstrap(data)": "boot_strength bn_boot arc_strength custom_strength bootstrap_strength",
        "mapdag.bootstrap(data).averaged()": "averaged_network averaged",
        "mapdag.cross_validate(data, objectives)": "bn_cv cross_val_score crossvalidate cv",
        "mapdag.arc_posteriors(data)": "arc_posterior edge_posteriors",
        "mapdag.score(dag, data, objective)": "structure_score get_score logLik BIC_score network_score",
        "mapdag.BDeu()": "BDeuScore BDE bde BDeuscore",
        "mapdag.BDs()": "BDsScore bds",
        "mapdag.K2()": "K2Score",
        "mapdag.BIC()": "BicScore BICScore",
        "mapdag.AIC()": "AICScore AicScore",
        "mapdag.LogLik()": "LogLikelihoodScore LogLikelihood",
        "mapdag.BayesianNetwork": "BayesNet BayesianModel DiscreteBayesianNetwork BN BayesNetwork bn",
        "mapdag.BayesianNetwork.query(nodes, evidence)": "VariableElimination LazyPropagation BeliefPropagation "
        "cpquery cpdist querygrain query inference getPosterior",
        "mapdag.BayesianNetwork.sample(n, seed)": "rbn BayesianModelSampling generateSample simulate sample",
        "mapdag.DAG(nodes, arcs)": "empty_graph Graph graph digraph DiGraph",
        "mapdag.DAG.from_modelstring(text)": "model2network model_string modelstring",
        "mapdag.DAG.to_cpdag()": "cpdag EssentialGraph PDAG vstructs dag2cpdag dag_to_cpdag",
        "mapdag.random_dag(nodes)": "random_graph random_bn generate_random_dag",
        "mapdag.shd(a, b)": "SHD structural_hamming_distance",
        "mapdag.compare(target, current)": "GraphicalBNComparator compare_graphs",
        "mapdag.kl_divergence(p, q)": "KL kl ExactBNdistance kldistance",
        "mapdag.network(name)": "get_example_model load_model example_model get_example bnrep",
        "mapdag.read_arcs(file)": "read_edges read_edgelist arcs",
        "mapdag.DAG.plot()": "graphviz_plot plot showBN show",
        "mapdag.discretize(data)": "discretise Discretizer discretizer DiscreteTypeProcessor",
        "mapdag.alpha_star(dag, data)": "alpha_opt optimal_alpha",
    }
)


def _attributes(lines: Mapping[str, str]) -> Mapping[str, str]:
    return MappingProxyType({word: here for here, words in lines.items() for word in words.split()})


_GRAPH = {
    "md.shd(graph, other)": "shd hamming",
    "md.write_graph(graph, path)": "save write dump to_file to_csv",
    "graph.plot()": "draw show render view to_graphviz to_daft",
    "graph.to_adjacency()": "adjacency_matrix get_adjmat adjacency amat",
}

#: What attributes of peers are here, by class.
ATTRIBUTES: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "Result": _attributes(
            {
                "result.dag.arcs": "arcs edges get_edges",
                "result.dag.nodes": "nodes variables names columns",
                "result.dag": "graph model best_dag structure learning bn",
                "result.fit(), a network with probabilities": "network fitted bayesian_network cpts cpds",
                "result.fit().predict(data, node)": "predict predict_proba query",
                "md.write_graph(result.dag, path), or md.write_network(result.fit(), path)": "save write dump to_file",
                "md.bootstrap(data)": "strength arc_strength boot_strength bootstrap",
                "result.plot()": "draw show render view",
                "result.dag.to_networkx()": "to_networkx",
            }
        ),
        "DAG": _attributes(
            {
                "dag.arcs": "edges get_edges arcs_list",
                "dag.n_arcs": "n_edges number_of_edges size narcs num_edges",
                "len(dag.nodes)": "n_nodes number_of_nodes order",
                "dag.parents(node)": "get_parents predecessors parent_set",
                "dag.children(node)": "get_children successors",
                "dag.with_arc(start, end)": "add_edge add_arc set_arc addArc",
                "dag.without_arc(start, end)": "remove_edge drop_arc eraseArc delete_edge",
                "dag.roots, dag.leaves": "get_roots get_leaves",
                "dag.d_separated(a, b, given)": "dsep is_dconnected is_d_separated",
                "dag.to_cpdag()": "cpdag to_pdag essential_graph",
                "dag.topological_order()": "node_ordering topological_sort",
                **_GRAPH,
            }
        ),
        "CPDAG": _attributes(
            {
                "cpdag.arcs": "directed_edges directed_arcs",
                "cpdag.edges": "undirected_edges undirected_arcs",
                "cpdag.to_dag()": "dag cextend",
                **_GRAPH,
            }
        ),
        "BayesianNetwork": _attributes(
            {
                "network.cpt(node), or network.cpts for all": "get_cpds cpds get_cpd cpd get_cpt",
                "BayesianNetwork(dag, levels, cpts)": "add_cpds add_edge add_node check_model",
                "network.dag.arcs": "arcs edges get_edges",
                "md.write_network(network, path)": "save write_bif to_bif saveBIF dump to_file to_json",
                "md.read_network(path)": "load read loadBIF",
                "network.levels": "states get_states cardinality get_cardinality state_names",
                "network.sample(n, seed=0)": "simulate rbn generate forward_sample",
                "network.query(nodes, evidence)": "infer inference posterior marginal cpquery get_posterior",
                "network.most_probable(evidence)": "map_query mpe map",
                "network.predict_proba(data, node)": "predict_probability predict_probabilities",
                "network.log_likelihood(data)": "score logLik loglik logLikelihood",
                "network.dag.children(node)": "children get_children successors",
                "network.dag.markov_blanket(node)": "markov_blanket get_markov_blanket mb",
                "md.fit(network.dag, data)": "fit fit_update",
                "network.plot()": "draw show render view to_graphviz",
            }
        ),
    }
)
