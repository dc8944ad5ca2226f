import { Page } from '../../ui/page.tsx'
import { w } from '../backups/words.ts'

export default function Screen() {
  return <Page title={w('title')} />
}
