export type TokenRole = 'MERCHANT' | 'CUSTOMER' | 'SUPER_ADMIN'
export type Claims = { sub: string; sid: string; role: TokenRole; shop?: string }

/** What makes an access token differ from the next one with the same claims. The same values give the same token. */
export type Issue = {
  /** `jti`. Default: a new one. */
  readonly id?: string
  /** When it was issued, in milliseconds. Default: now. */
  readonly at?: number
  /** The key that signs. Default: the newest. */
  readonly keyVersion?: string
}

/** Access tokens: signed here, verified here. */
export type Tokens = {
  readonly lifetimeSeconds: number
  sign(claims: Claims, issue?: Issue): string
  /** The claims of a token that we signed and that has not expired. Whether its session still lives is for the caller to ask. */
  verify(token: string): Promise<Claims | undefined>
}
