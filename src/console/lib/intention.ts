import { useState } from 'preact/hooks'
import { newKey } from './api.ts'
import { type Once, once } from './once.ts'

/** For a form that creates or moves something: see `once`. */
export function useIntention(): Once {
  const [mine] = useState(() => once(newKey))
  return mine
}
