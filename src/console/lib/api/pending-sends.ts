import { useState } from 'preact/hooks'
import { newKey } from './api.ts'
import { createIdempotentSend, type IdempotentSend, type Sent } from './idempotent-send.ts'

/** Of every page, for as long as this one is open. */
const undecided = new Map<string, Sent>()

/** For a form that creates or moves something: see `once`. */
export function useIntention(): IdempotentSend {
  const [mine] = useState(() => createIdempotentSend(newKey, undecided, () => location.pathname))
  return mine
}
