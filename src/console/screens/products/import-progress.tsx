import { number, percent } from '../../lib/format.ts'
import { isLive } from '../../lib/live.ts'
import { Button } from '../../ui/button.tsx'
import { w } from './words.ts'

/** How far an import has come: the file on its way, then what souk has read of it, as far as it tells. */
export type Far = {
  readonly dryRun: boolean
  readonly sent: number
  readonly server?: { readonly read: number; readonly of: number; readonly rows: number; readonly errors: number }
}

export function ImportProgress({ far: { dryRun, sent, server }, onStop }: { far: Far; onStop: () => void }) {
  const isSending = sent < 1
  const part = isSending ? sent : server && server.of > 0 ? server.read / server.of : undefined
  const text = isSending
    ? w('sendingFile', { percent: percent(sent) })
    : server
      ? w('workingFile', { percent: percent(part ?? 0), rows: number(server.rows), errors: number(server.errors) })
      : isLive.value
        ? ''
        : w('workingBlind')
  return (
    <div class="stack">
      <strong>{dryRun ? w('checking') : w('importing')}</strong>
      {/* Without a value it says that something is under way, and not how far it is. */}
      <progress aria-label={dryRun ? w('checking') : w('importing')} max={1} {...(part === undefined ? {} : { value: part })} />
      <p role="status">{text}</p>
      <div class="row">
        <Button onPress={onStop}>{w('stop')}</Button>
      </div>
    </div>
  )
}
