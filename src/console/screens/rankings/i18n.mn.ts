import type { Translation } from '../../lib/i18n/catalog.ts'
import type en from './i18n.en.ts'

export default {
  subtitle: 'Түншээр ирсэн баталгаажсан захиалга, буцаалтаас өмнө, ам.доллараар',
  kind: 'Эрэмбэлэх',
  merchants: 'Худалдаачид',
  limit: 'Мөр',
  rank: 'Байр',
  gmv: 'Түншийн борлуулалт',
  none: 'Энэ хугацаанд түншийн борлуулалт алга',
  noneText: 'Түншийн холбоосоор ирсэн захиалга энд эрэмбэлэгдэнэ. Илүү урт хугацаа сонгоно уу.',
} satisfies Translation<typeof en>
