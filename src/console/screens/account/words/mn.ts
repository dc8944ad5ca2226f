import type { Translation } from '../../../lib/words.ts'
import type en from './en.ts'

export default {
  title: 'Account',
} satisfies Translation<typeof en>
