import { session } from './session.ts'

/** One's own id, which the access token says (RFC 7519, `sub`); undefined where nobody is in. */
export function myId(): string | undefined {
  const [, claims = ''] = session.value?.accessToken.split('.') ?? []
  return claims && String(JSON.parse(atob(claims.replaceAll('-', '+').replaceAll('_', '/'))).sub)
}
