/** An access token that all calls of one account share. */

/** `expiresAt`: milliseconds since the epoch. */
export type Token = { readonly value: string; readonly expiresAt: number }

export type SharedToken = {
  /** The token, obtained first where there is none that still lives a while. */
  get(): Promise<string>
  /** Another token than this one, which was refused; the one that somebody else has obtained since, if any. */
  renewed(refused: string): Promise<string>
  /** A token obtained now, whatever there is. */
  anew(): Promise<string>
}

/** Before its end by so much a token is not used any more: a request takes its time. */
const marginMs = 60_000

/**
 * However many callers need a token at once, one request obtains it for all of them, and fails for all of them.
 * @param obtain throws what its callers get
 */
export function createSharedToken(obtain: () => Promise<Token>, now: () => number): SharedToken {
  let token: Token | undefined
  let underWay: Promise<string> | undefined

  async function begin(): Promise<string> {
    try {
      token = await obtain()
      return token.value
    } finally {
      underWay = undefined
    }
  }

  const anew = () => {
    underWay ??= begin()
    return underWay
  }

  return {
    anew,
    get: async () => (token && token.expiresAt - marginMs > now() ? token.value : anew()),
    renewed: async (refused) => (token && token.value !== refused ? token.value : anew()),
  }
}
