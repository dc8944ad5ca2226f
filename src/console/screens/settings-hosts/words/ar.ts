import type { Translation } from '../../../lib/words.ts'
import type en from './en.ts'

export default {
  title: 'Settings hosts',
} satisfies Translation<typeof en>
