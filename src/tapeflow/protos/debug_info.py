"""Where the nodes of a graph were made."""

SYNTAX = "proto2"

TABLE = """
GraphDebugInfo
    files 1 string*
    frames_by_id 4 map<fixed64,GraphDebugInfo.FileLineCol>
    traces_by_id 6 map<fixed64,GraphDebugInfo.StackTrace>
    traces 2 map<string,GraphDebugInfo.StackTrace>
    name_to_trace_id 5 map<string,fixed64>

GraphDebugInfo.FileLineCol
    file_index 1 int32
    line 2 int32
    col 3 int32
    func 4 string
    code 5 string

GraphDebugInfo.StackTrace
    file_line_cols 1 GraphDebugInfo.FileLineCol*
    frame_id 2 fixed64*
"""
