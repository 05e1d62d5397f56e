"""The explorer: a local page on which the graph follows the prior.

`mapdag.explorer.doors` has the front doors. What one asks for over HTTP is in `app`; who may ask, in `guard`. The
framework (Starlette, uvicorn) is the extra ``explore``, imported on use by `app` and `server`; nothing else here knows
of it.
"""
