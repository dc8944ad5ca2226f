import { Page } from '../../ui/page.tsx'
import { w } from '../settings-payments/words.ts'

export default function Screen() {
  return <Page title={w('title')} />
}
