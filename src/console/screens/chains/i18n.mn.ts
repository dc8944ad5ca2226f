import type { Translation } from '../../lib/i18n/catalog.ts'
import type en from './i18n.en.ts'

export default {
  none: 'Гинж дагаагүй байна',
  noneText: 'CHAINS тохиргоо аль гинжний баталгааг тоолохыг заана.',
  head: 'Хамгийн шинэ блок',
  target: 'Эцсийн блок',
  cursor: 'Тоолсон блок',
  lag: 'Хоцорсон блок',
  synced: 'Сүүлд уншсан',
  provider: 'Ашиглаж буй зангилаа',
  nodes: 'Зангилаанууд',
  error: 'Сүүлийн алдаа',
  halted: 'Тоолол зогссон',
  contract: 'Гэрээ',
  rescan: 'Дахин уншсан',
  notConfigured: 'CHAINS үүнийг нэрлэхээ больсон: хадгалсан нь хэвээр.',
  ready: 'Бэлэн',
  resting: 'Амарч буй',
  failing: 'Доголдож буй',
  inUse: 'Ашиглаж буй',
  failures: 'Алдаа',
  backfills: 'Нөхөж буй',
  chain: 'Гинж {id}',
  until: '{at} хүртэл',
} satisfies Translation<typeof en>
