import type { Translation } from '../../lib/i18n/catalog.ts'
import type en from './i18n.en.ts'

export default {
  subtitle: 'Түншээр дамжин бүртгүүлсэн дэлгүүрүүд, тэдний эхлэх карт боловсруулагч',
  none: 'Түншлэл алга. Түншлэл нь хэсэг дэлгүүрийн үндсэн карт боловсруулагчийг тогтооно.',
  nr: '{n}-р түншлэл',
  processor: 'Карт боловсруулагч',
  add: 'Түншлэл нэмэх',
  twice: 'Дэлгүүр зөвхөн нэг түншлэлд харьяалагдана: {names}',
} satisfies Translation<typeof en>
