/** An access token that all calls of an account share. */

/** `expiresAt`: milliseconds since the epoch. */
export type Token = { readonly value: string; readonly expiresAt: number }

type SharedToken = {
  /** Returns the token; obtains one if it expires soon. */
  get(): Promise<string>
  /** Replaces a refused token, unless it was replaced already. */
  renew(refused: string): Promise<string>
  /** Obtains a new token in any case. */
  refresh(): Promise<string>
}

/** A token is not used in its last minute: a request takes time. */
const marginMs = 60_000

/**
 * Creates a token that concurrent callers share: one request, and its failure, serves all of them.
 * @param obtain its errors reach the callers
 */
export function createSharedToken(obtain: () => Promise<Token>, now: () => number): SharedToken {
  let token: Token | undefined
  let running: Promise<string> | undefined

  async function begin(): Promise<string> {
    try {
      token = await obtain()
      return token.value
    } finally {
      running = undefined
    }
  }

  const refresh = () => {
    running ??= begin()
    return running
  }

  return {
    refresh,
    get: async () => (token && token.expiresAt - marginMs > now() ? token.value : refresh()),
    renew: async (refused) => (token && token.value !== refused ? token.value : refresh()),
  }
}
