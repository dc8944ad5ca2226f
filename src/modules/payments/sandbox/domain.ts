/** The tokens of the sandbox. Each always has the same result. */
export const sandboxTokens = ['tok_success', 'tok_decline', 'tok_timeout', 'tok_crash', 'tok_action'] as const
export type SandboxToken = (typeof sandboxTokens)[number]

/** The result of each token, as documents and screens name it. */
export const sandboxResults: Readonly<Record<SandboxToken, string>> = {
  tok_success: 'pays',
  tok_decline: 'declines the payment',
  tok_timeout: 'never answers',
  tok_crash: 'takes the money, then loses the connection',
  tok_action: "waits for the shopper's confirmation",
}

type Behaviour = {
  /** The status after the creation. */
  readonly becomes: 'AUTHORIZED' | 'DECLINED' | 'PENDING'
  /** How the answer to its creation or capture is lost. */
  readonly creation: 'answers' | 'hangs'
  readonly capture: 'answers' | 'breaks off'
}

export const behaviours: Readonly<Record<SandboxToken, Behaviour>> = {
  tok_success: { becomes: 'AUTHORIZED', creation: 'answers', capture: 'answers' },
  tok_decline: { becomes: 'DECLINED', creation: 'answers', capture: 'answers' },
  /** Never decided, and never answered. */
  tok_timeout: { becomes: 'PENDING', creation: 'hangs', capture: 'answers' },
  /** Captures the money, then breaks the connection. */
  tok_crash: { becomes: 'AUTHORIZED', creation: 'answers', capture: 'breaks off' },
  /** Waits for the shopper's confirmation on the processor's page, then captures by itself. */
  tok_action: { becomes: 'PENDING', creation: 'answers', capture: 'answers' },
}

export const declineCode = 'card_declined'
/** The header with the HMAC-SHA256 of a message's body, in hex. */
export const signatureHeader = 'sandbox-signature'
