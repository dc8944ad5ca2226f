import type { Deps } from '../../core/deps.ts'
import { createTally } from '../../lib/prometheus.ts'

export function mailParts(_deps: Deps) {
  return {
    /** What has become of mails in this process. */
    mailCounts: createTally(),
  }
}
export type MailDeps = Deps & ReturnType<typeof mailParts>
