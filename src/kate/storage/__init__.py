"""Files and folders of ours: written whole or not at all, checked before they are used.

module          what it does                                                      used for
files           whole_file, whole_folder: write beside the target, then rename    everything that Kate writes
                scratch_folder: what is needed until then                         corpora larger than memory
                only_writer: keep a second program from adding to a file          results of long runs
growing_arrays  GrowingArray: a .npy file that rows are added to                  vectors of such corpora
folders         FolderKind: the format, its version, sizes and checksums          model, index and estimator folders
                FolderError: damaged, of another kind, or of an unknown version
checksums       SHA-256 of bytes and of files                                     folders, downloads
json_values     as_json: NumPy's values, paths and sets as JSON can hold them     every JSON file
saving          Saveable: save and load for estimators                            KATE and its rivals

A model folder (``kate.model.model_folder``) and an index folder (``kate.search.index``) say in their own modules which
files they hold. All are text, JSON and plain arrays, never pickle: loading a stranger's folder runs nothing of theirs.
"""
