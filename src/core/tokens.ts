/** The kind of account that a token is for. */
export type TokenRole = 'MERCHANT' | 'CUSTOMER' | 'SUPER_ADMIN'
/** Claims of a token. `sub`: id of the person. `sid`: id of the session. `shop`: id of a customer's shop. */
export type TokenClaims = { sub: string; sid: string; role: TokenRole; shop?: string }

/** Fields that distinguish tokens with the same claims. Equal values give an equal token. */
export type TokenOptions = {
  /** `jti`. Default: a new one. */
  readonly id?: string
  /** When it was issued, in milliseconds. Default: now. */
  readonly at?: number
  /** The key that signs. Default: the newest. */
  readonly keyVersion?: string
}

/** Signs and verifies access tokens. */
export type Tokens = {
  readonly lifetimeSeconds: number
  sign(claims: TokenClaims, issue?: TokenOptions): string
  /**
   * Returns the claims of a valid token that has not expired. The caller checks whether the session is still active.
   */
  verify(token: string): Promise<TokenClaims | undefined>
}
