CREATE INDEX `product_documents_vendor_stock` ON `product_documents` (`shop_id`,`vendor`,`available`,`type`,`product_id`);--> statement-breakpoint
CREATE INDEX `product_documents_type_stock` ON `product_documents` (`shop_id`,`type`,`available`,`product_id`);--> statement-breakpoint
CREATE INDEX `product_tags_vendor` ON `product_tags` (`shop_id`,`tag`,`available`,`vendor`);--> statement-breakpoint
CREATE INDEX `product_tags_type` ON `product_tags` (`shop_id`,`tag`,`available`,`type`);