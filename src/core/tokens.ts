export type TokenRole = 'MERCHANT' | 'CUSTOMER' | 'SUPER_ADMIN'
export type Claims = { sub: string; sid: string; role: TokenRole; shop?: string }

/** Access tokens: signed here, verified here. */
export type Tokens = {
  readonly lifetimeSeconds: number
  sign(claims: Claims): Promise<string>
  /** The claims of a token that we signed and that has not expired. Whether its session still lives is for the caller to ask. */
  verify(token: string): Promise<Claims | undefined>
}
