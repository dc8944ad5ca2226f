import type { Translation } from '../../lib/i18n/catalog.ts'
import type en from './i18n.en.ts'

export default {
  subtitle: 'Түншүүдийн борлуулсан нь: түншийн авчирсан баталгаажсан захиалга, буцаалтаас өмнө, ам.доллараар',
  kind: 'Юуг эрэмбэлэх',
  merchants: 'Худалдаачид',
  limit: 'Мөр',
  rank: 'Байр',
  gmv: 'Түншээр зарагдсан',
  none: 'Эдгээр өдөрт түнш юу ч зараагүй',
  noneText: 'Дэлгүүрүүд түншээ өөрсдөө нэрлэдэг; түншийн холбоосоор авсан нь энд эрэмбэлэгдэнэ. Илүү олон өдрийг үзээрэй.',
} satisfies Translation<typeof en>
