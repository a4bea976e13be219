"""What collections of 1.x graphs hold besides variables."""

TABLE = """
ValuesDef
    values 1 string*
    external_values 2 map<string,string>

ControlFlowContextDef
    cond_ctxt 1 CondContextDef in ctxt
    while_ctxt 2 WhileContextDef in ctxt

CondContextDef
    context_name 1 string
    pred_name 2 string
    pivot_name 3 string
    branch 4 int32
    values_def 5 ValuesDef
    nested_contexts 6 ControlFlowContextDef*

WhileContextDef
    context_name 1 string
    parallel_iterations 2 int32
    back_prop 3 bool
    swap_memory 4 bool
    pivot_name 5 string
    pivot_for_pred_name 6 string
    pivot_for_body_name 7 string
    loop_exit_names 8 string*
    loop_enter_names 10 string*
    values_def 9 ValuesDef
    maximum_iterations_name 11 string
    nested_contexts 12 ControlFlowContextDef*

QueueRunnerDef
    queue_name 1 string
    enqueue_op_name 2 string*
    close_op_name 3 string
    cancel_op_name 4 string
    queue_closed_exception_types 5 error.Code*

NamedTensorProto
    name 1 string
    tensor 2 TensorProto
"""
