import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'

/** Draws content below the first view one frame later. */
export function Deferred({ children }: { children: ComponentChildren }) {
  const [isShown, setTime] = useState(false)
  // An effect runs after the first paint.
  useEffect(() => setTime(true), [])
  return isShown ? children : null
}
