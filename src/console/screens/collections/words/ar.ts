import type { Translation } from '../../../lib/words.ts'
import type en from './en.ts'

export default {
  title: 'Collections',
} satisfies Translation<typeof en>
