import { Page } from '../../ui/page.tsx'
import { w } from '../gift-cards/words.ts'

export default function Screen() {
  return <Page title={w('title')} />
}
