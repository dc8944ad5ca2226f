import { Page } from '../../ui/page.tsx'
import { w } from '../settings-taxes/words.ts'

export default function Screen() {
  return <Page title={w('title')} />
}
