import type { ComponentChildren } from 'preact'
import { moment } from '../lib/format/format.ts'
import { common } from '../lib/i18n/common.ts'

/** Shows the time of data, or a warning if it is outdated. */
export const AsOfNote = ({ at, stale }: { at: string; stale?: boolean }) =>
  stale ? <Note tone="warn">{common('stale', { at: moment(at) })}</Note> : <p class="hint">{common('asOf', { at: moment(at) })}</p>

export const Note = ({ tone = 'info', children }: { tone?: 'info' | 'warn' | 'bad' | 'good'; children: ComponentChildren }) => (
  <div class={`note ${tone}`}>{children}</div>
)
