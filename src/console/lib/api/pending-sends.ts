import { useState } from 'preact/hooks'
import { newIdempotencyKey } from './api.ts'
import { createIdempotentSend, type IdempotentSend, type PendingSend } from './idempotent-send.ts'

/** Of every page, for as long as this one is open. */
const pendingSends = new Map<string, PendingSend>()

/** For a form that creates or moves something: see `once`. */
export function useIdempotentSend(): IdempotentSend {
  const [mine] = useState(() => createIdempotentSend(newIdempotencyKey, pendingSends, () => location.pathname))
  return mine
}
