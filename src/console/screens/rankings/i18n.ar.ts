import type { Translation } from '../../lib/i18n/catalog.ts'
import type en from './i18n.en.ts'

export default {
  subtitle: 'الطلبات المؤكدة الواردة عبر المسوّقين بالعمولة، قبل الاسترداد، بالدولار الأمريكي',
  kind: 'الترتيب حسب',
  merchants: 'التجار',
  limit: 'الصفوف',
  rank: 'الرتبة',
  gmv: 'مبيعات المسوّقين بالعمولة',
  none: 'لا توجد مبيعات للمسوّقين في هذه الفترة',
  noneText: 'تُرتَّب هنا الطلبات الواردة عبر روابط المسوّقين. جرّب فترة أطول.',
} satisfies Translation<typeof en>
