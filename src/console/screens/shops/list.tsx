import { Page } from '../../ui/page.tsx'
import { w } from '../shops/words.ts'

export default function Screen() {
  return <Page title={w('title')} />
}
