import type { Translation } from '../../lib/i18n/catalog.ts'
import type en from './i18n.en.ts'

export default {
  title: 'Эрэмбэ',
  subtitle: 'Түншүүдийн борлуулсан нь: түншийн авчирсан баталгаажсан захиалга, буцаалтаас өмнө, ам.доллараар',
  kind: 'Юуг эрэмбэлэх',
  merchants: 'Худалдаачид',
  products: 'Бараа',
  limit: 'Мөр',
  days: '{from} – {to}, UTC өдрөөр',
  rank: 'Байр',
  shop: 'Дэлгүүр',
  product: 'Бараа',
  gmv: 'Түншээр зарагдсан',
  orders: 'Захиалга',
  units: 'Ширхэг',
  none: 'Эдгээр өдөрт түнш юу ч зараагүй',
  noneText: 'Дэлгүүрүүд түншээ өөрсдөө нэрлэдэг; түншийн холбоосоор авсан нь энд эрэмбэлэгдэнэ. Илүү олон өдрийг үзээрэй.',
} satisfies Translation<typeof en>
