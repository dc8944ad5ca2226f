import type { Translation } from '../../../lib/words.ts'
import type en from './en.ts'

export default {
  title: 'Drafts',
} satisfies Translation<typeof en>
