import type { Translation } from '../../lib/i18n/catalog.ts'
import type en from './i18n.en.ts'

export default {
  subtitle: 'Түншээр дамжин ирсэн дэлгүүрүүд ба өөрсдөө сонгоогүй бол эхлэх картын систем',
  none: 'Түншлэл хараахан алга. Түншлэл нь дэлгүүрүүд ба тэдний картыг авах системийг нэрлэнэ.',
  nr: '{n}-р түншлэл',
  processor: 'Картын систем',
  add: 'Түншлэл нэмэх',
  twice: 'Дэлгүүр дээд тал нь нэг түншлэлд харьяалагдана: {names}',
} satisfies Translation<typeof en>
