ALTER TABLE `product_tags` ADD `title_key` text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE `product_tags` ADD `price_key` text DEFAULT '' NOT NULL;--> statement-breakpoint
UPDATE product_tags SET title_key = d.title_key, price_key = d.price_key FROM product_documents d WHERE d.product_id = product_tags.product_id;--> statement-breakpoint
CREATE INDEX `product_tags_title` ON `product_tags` (`shop_id`,`tag`,`title_key`);--> statement-breakpoint
CREATE INDEX `product_tags_price` ON `product_tags` (`shop_id`,`tag`,`price_key`);--> statement-breakpoint
CREATE INDEX `product_documents_vendor_title` ON `product_documents` (`shop_id`,`vendor`,`title_key`,`visible_from`,`type`,`available`,`min_price`,`max_price`,`tag_bits`);--> statement-breakpoint
CREATE INDEX `product_documents_vendor_price` ON `product_documents` (`shop_id`,`vendor`,`price_key`,`visible_from`,`type`,`available`,`min_price`,`max_price`,`tag_bits`);--> statement-breakpoint
CREATE INDEX `product_documents_type_title` ON `product_documents` (`shop_id`,`type`,`title_key`,`visible_from`,`vendor`,`available`,`min_price`,`max_price`,`tag_bits`);--> statement-breakpoint
CREATE INDEX `product_documents_type_price` ON `product_documents` (`shop_id`,`type`,`price_key`,`visible_from`,`vendor`,`available`,`min_price`,`max_price`,`tag_bits`);