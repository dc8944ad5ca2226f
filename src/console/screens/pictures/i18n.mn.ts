import type { Translation } from '../../lib/i18n/catalog.ts'
import type en from './i18n.en.ts'

export default {
  text: 'Энэ дэлгүүрийн оруулсан бүх зураг, шинэ нь эхэндээ.',
  add: 'Зураг оруулах',
  none: 'Зураг алга',
  noneText: 'Энд эсвэл бараатай хамт оруулсан зургийг аль ч бараа, цуглуулга, нийтлэлд харуулж болно.',
  choose: 'Зураг сонгох',
  chosen: 'Авсан',
  take: '{at}-ны зургийг авах, {size}',
  open: 'Нээх',
  size: '{width} × {height}',
  removeTitle: 'Энэ зургийг устгах уу?',
  removeText: 'Түүний хаяг юу ч харуулахгүй болно. Үүнийг буцаах боломжгүй, гэхдээ зургийг дахин оруулж болно.',
  removed: 'Зураг устлаа',
  isKnown: '{name} энд аль хэдийн байна: юу ч нэмээгүй.',
  remove: '{at}-ны зургийг устгах',
} satisfies Translation<typeof en>
