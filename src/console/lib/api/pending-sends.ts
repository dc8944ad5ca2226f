import { useState } from 'preact/hooks'
import { newIdempotencyKey } from './api.ts'
import { createIdempotentSend, type IdempotentSend, type PendingSend } from './idempotent-send.ts'

/** Requests with unknown outcome, of all screens. */
const pendingSends = new Map<string, PendingSend>()

/** Returns a sender for a form that creates or moves something: see `createIdempotentSend`. */
export function useIdempotentSend(): IdempotentSend {
  const [send] = useState(() => createIdempotentSend(newIdempotencyKey, pendingSends, () => location.pathname))
  return send
}
