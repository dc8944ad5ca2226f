/** Certificate problems by the code or message of the TLS error. */
const certificateProblems: readonly (readonly [RegExp, string])[] = [
  [/SELF_SIGNED|self[- ]signed/i, 'it is self-signed'],
  [/HAS_EXPIRED|has expired/i, 'it has expired'],
  [/NOT_YET_VALID|not yet valid/i, 'it is not valid yet'],
  [/ALTNAME_INVALID|HOSTNAME_MISMATCH|altnames/i, 'it is for another name'],
  [/CERT_REVOKED|revoked/i, 'it was revoked'],
  [/UNABLE_TO_(?:GET_ISSUER|VERIFY)|unable to (?:get .*issuer|verify)/i, 'its issuer is not known here'],
  [/CERT|certificate/i, 'it cannot be verified'],
]

/**
 * Describes an untrusted certificate; undefined for other errors.
 * @param host the name or address that was called
 */
export function certificateProblem(error: unknown, host: string): string | undefined {
  const { code = '', message = '' } = error as { code?: string; message?: string }
  const problem = certificateProblems.find(([pattern]) => pattern.test(code) || pattern.test(message))?.[1]
  return problem === undefined ? undefined : `the certificate of ${host} is not trusted: ${problem}`
}
