import type { Translation } from '../../lib/i18n/catalog.ts'
import type en from './i18n.en.ts'

export default {
  hint: 'Дараалсан таван алдааны дараа туршилтын хүсэлт амжилттай болох хүртэл боловсруулагч шинэ төлбөр авахгүй.',
  host: 'Хандалтын цэг',
  failures: 'Дараалсан алдаа',
  since: 'Доголдсон',
  probe: 'Дараагийн туршилт',
  CLOSED: 'Хэвийн',
  OPEN: 'Доголдолтой',
  HALF_OPEN: 'Туршиж байна',
  isolated: '{at}-ээс түр зогссон',
  isolate: 'Түр зогсоох',
  isolateOf: '{name}: түр зогсоох',
  restoreOf: '{name}: үргэлжлүүлэх',
  isolateText: 'Үргэлжлүүлэх хүртэл шинэ төлбөрт {name} ашиглагдахгүй. Явагдаж буй төлбөр, буцаалт үргэлжилнэ.',
  done: '{name} түр зогссон',
  undone: '{name} үргэлжилсэн',
  noHosts: 'Хүсэлт хараахан алга',
  restore: 'Үргэлжлүүлэх',
} satisfies Translation<typeof en>
