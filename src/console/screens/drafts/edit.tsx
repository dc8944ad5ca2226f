import { Page } from '../../ui/page.tsx'
import { w } from '../drafts/words.ts'

export default function Screen() {
  return <Page title={w('title')} />
}
