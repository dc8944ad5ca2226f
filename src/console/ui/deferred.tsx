import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'

/** What lies below all that is seen first: drawn a frame behind it, which is shown the sooner. */
export function Deferred({ children }: { children: ComponentChildren }) {
  const [isTime, setTime] = useState(false)
  // An effect runs once the first drawing is on the screen.
  useEffect(() => setTime(true), [])
  return isTime ? children : null
}
