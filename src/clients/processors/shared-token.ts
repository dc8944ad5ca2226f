/** An access token that all calls of an account share. */

/** `expiresAt`: milliseconds since the epoch. */
export type Token = { readonly value: string; readonly expiresAt: number }

export type SharedToken = {
  /** Returns the token; obtains one if it expires soon. */
  get(): Promise<string>
  /** Replaces a refused token, unless it was replaced already. */
  renewed(refused: string): Promise<string>
  /** Obtains a new token in any case. */
  anew(): Promise<string>
}

/** A token is not used in its last minute: a request takes time. */
const marginMs = 60_000

/**
 * Any number of concurrent callers share one request for a token, and its failure.
 * @param obtain its errors reach the callers
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
