from .arrays import (
    HEADER as HEADER,
)
from .arrays import (
    UNREADABLE as UNREADABLE,
)
from .arrays import (
    ArrayFolder as ArrayFolder,
)
from .arrays import (
    digest_arrays as digest_arrays,
)
from .arrays import (
    read_array as read_array,
)
from .arrays import (
    read_stored as read_stored,
)
from .arrays import (
    write_stored as write_stored,
)
from .opening import (
    COMPRESSED as COMPRESSED,
)
from .opening import (
    READ_ERRORS as READ_ERRORS,
)
from .opening import (
    STDIN as STDIN,
)
from .opening import (
    ErrorCallback as ErrorCallback,
)
from .opening import (
    ErrorSink as ErrorSink,
)
from .opening import (
    ZstdFile as ZstdFile,
)
from .opening import (
    decode as decode,
)
from .opening import (
    decode_as as decode_as,
)
from .opening import (
    error_sink as error_sink,
)
from .opening import (
    file_stamp as file_stamp,
)
from .opening import (
    is_dangling as is_dangling,
)
from .opening import (
    memory_limit as memory_limit,
)
from .opening import (
    nul_error as nul_error,
)
from .opening import (
    open_bytes as open_bytes,
)
from .opening import (
    pack as pack,
)
from .opening import (
    read_error as read_error,
)
from .opening import (
    read_small as read_small,
)
from .opening import (
    read_within as read_within,
)
from .opening import (
    read_words as read_words,
)
from .opening import (
    stdin_has_data as stdin_has_data,
)
from .opening import (
    too_large_error as too_large_error,
)
from .opening import (
    unpack_zstd as unpack_zstd,
)
from .opening import (
    without_compression as without_compression,
)
from .saving import (
    Checksum as Checksum,
)
from .saving import (
    TempFiles as TempFiles,
)
from .saving import (
    checked_writer as checked_writer,
)
from .saving import (
    exchange_names as exchange_names,
)
from .saving import (
    follow_links as follow_links,
)
from .saving import (
    is_special as is_special,
)
from .saving import (
    json_text as json_text,
)
from .saving import (
    lock_file as lock_file,
)
from .saving import (
    parse_json as parse_json,
)
from .saving import (
    read_json as read_json,
)
from .saving import (
    remove_temp as remove_temp,
)
from .saving import (
    replace_atomically as replace_atomically,
)
from .saving import (
    replace_nonfinite as replace_nonfinite,
)
from .saving import (
    restore as restore,
)
from .saving import (
    save_file as save_file,
)
from .saving import (
    save_json as save_json,
)
from .saving import (
    save_output as save_output,
)
from .saving import (
    saved_folder as saved_folder,
)
from .saving import (
    sync_directory as sync_directory,
)
from .saving import (
    temp_folder as temp_folder,
)
from .saving import (
    writing as writing,
)
