/** A self-signed test certificate for hook.example, valid from 2020 to 2120, and its key. */
const pem = (what: string, base64: string) => `-----BEGIN ${what}-----\n${base64}\n-----END ${what}-----\n`

export const key = pem(
  'PRIVATE KEY',
  `MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgtGQbLynX//e5/3Gr
yn7pEBQ+YHE5Amrc4n2k0vSVbYGhRANCAASdU+m0zRm3uHU5/0B4++xXSDcxQNCJ
wgWEOV2a/3FwHBdWOBl/RMPvuZ+VHBvdyFSJ24P6E1e5BvR4lIzaaHsp`,
)
export const certificate = pem(
  'CERTIFICATE',
  `MIIBazCCARCgAwIBAgIBATAKBggqhkjOPQQDAjAXMRUwEwYDVQQDDAxob29rLmV4
YW1wbGUwIBcNMjAwMTAxMDAwMDAwWhgPMjEyMDAxMDEwMDAwMDBaMBcxFTATBgNV
BAMMDGhvb2suZXhhbXBsZTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABJ1T6bTN
Gbe4dTn/QHj77FdINzFA0InCBYQ5XZr/cXAcF1Y4GX9Ew++5n5UcG93IVInbg/oT
V7kG9HiUjNpoeymjSzBJMBcGA1UdEQQQMA6CDGhvb2suZXhhbXBsZTAPBgNVHRMB
Af8EBTADAQH/MB0GA1UdDgQWBBTePzrqHXB4pg3x3fpy/ii8LQqJHDAKBggqhkjO
PQQDAgNJADBGAiEA83BbuwUVO6HILubTLSQpjc9U95qqTItbbDouqhYPwQ0CIQCJ
zLs84YN9+M/PUiOtJ+ZkV1j+6M30gIG+MVqcZd7pSw==`,
)
