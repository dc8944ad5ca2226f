import type { Translation } from '../../lib/i18n/catalog.ts'
import type en from './i18n.en.ts'

export default {
  text: 'Байршуулсан бүх зураг, шинэ нь эхэндээ',
  add: 'Зураг байршуулах',
  none: 'Зураг алга байна',
  noneText: 'Байршуулсан зургийг бараа, цуглуулга, нийтлэлд ашиглаж болно.',
  choose: 'Зураг сонгох',
  chosen: 'Сонгосон',
  take: '{at}-ны зургийг сонгох, {size}',
  open: 'Харах',
  url: 'URL',
  size: '{width} × {height}',
  removeTitle: 'Зургийг устгах уу?',
  removeText: 'Ашигласан хуудсанд эвдэрсэн зураг харагдана. Буцаах боломжгүй.',
  removed: 'Зургийг устгалаа',
  isKnown: '{name} өмнө нь байршуулагдсан.',
  remove: '{at}-ны зургийг устгах',
} satisfies Translation<typeof en>
