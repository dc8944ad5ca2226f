import type { Translation } from '../../lib/i18n/catalog.ts'
import type en from './i18n.en.ts'

export default {
  title: 'Түншүүд',
  add: 'Шинэ түнш',
  edit: 'Түншийг засах',
  made: 'Түнш нэмэгдлээ',
  none: 'Түнш алга',
  noneText: 'Түнш кодтой холбоосоор худалдан авагч илгээж, худалдан авалтаас хувь авна.',
  codeHint: 'Холбоост нь орно: үсэг, тоо, - ба _.',
  codeChangeHint: 'Солиход хуучин кодоор ирсэн сагс хэнийх ч биш болно.',
  rate: 'Хувь',
  ratePercent: 'Хувь (%)',
  rateHint: 'Хөнгөлөлт хассан барааны дүнгээс.',
  rateChangeHint: 'Шинэ хувь дараагийн захиалгад үйлчилнэ.',
  activeHint: 'Унтраавал даралт, захиалга тооцогдохгүй; олсон орлого хэвээр.',
  clicks: 'Даралт, 30 хоног',
  pending: 'Хүлээгдэж буй',
  approved: 'Олсон',
  reversed: 'Буцаасан',
  earningsHint: 'Шимтгэл 14 хоног хүлээгдэнэ; буцаалт өөрийн хувийг буцаана.',
} satisfies Translation<typeof en>
