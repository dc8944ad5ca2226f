import { moment } from '../../lib/format.ts'
import { Copyable, Note } from '../../ui/bits.tsx'
import { Section } from '../../ui/page.tsx'
import { w } from '../registries/words.ts'

/** A secret that is shown this once. @param previousUntil until when the one before it is heard */
export const Secret = ({ text, previousUntil }: { text: string; previousUntil?: string }) => (
  <Section title={w('secret')}>
    <Note tone="warn">{w('secretOnce')}</Note>
    <Copyable text={text} label={w('secret')} />
    {previousUntil && <p class="hint">{w('previousUntil', { at: moment(previousUntil) })}</p>}
  </Section>
)
