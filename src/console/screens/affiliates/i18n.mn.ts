import type { Translation } from '../../lib/i18n/catalog.ts'
import type en from './i18n.en.ts'

export default {
  add: 'Түнш нэмэх',
  edit: 'Түншийг засах',
  made: 'Түнш нэмэгдсэн',
  none: 'Түнш хараахан алга',
  noneText: 'Түншүүд хяналтын холбоосоор худалдан авагч илгээж, худалдан авалтаас шимтгэл авдаг.',
  codeHint: 'Холбоост ашиглана: үсэг, тоо, - ба _',
  codeChangeHint: 'Хуучин кодтой холбоосоор ирсэн сагс тооцогдохгүй болно.',
  rate: 'Шимтгэл',
  ratePercent: 'Шимтгэл (%)',
  rateHint: 'Хөнгөлөлтийн дараах дүнгээс',
  rateChangeHint: 'Зөвхөн шинэ захиалгад хамаарна.',
  activeHint: 'Унтраавал даралт, захиалга тооцогдохгүй. Олсон шимтгэл хэвээр үлдэнэ.',
  clicks: 'Даралт (30 хоног)',
  pending: 'Хүлээгдэж буй',
  approved: 'Зөвшөөрсөн',
  reversed: 'Буцаагдсан',
  earningsHint: 'Шимтгэлийг 14 хоногийн дараа зөвшөөрнө. Буцаалт шимтгэлийг бууруулна.',
  code: 'Түншийн код',
} satisfies Translation<typeof en>
