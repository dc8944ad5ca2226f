import type { Translation } from '../../../lib/words.ts'
import type en from './en.ts'

export default {
  title: 'Gift cards',
} satisfies Translation<typeof en>
