CREATE TABLE "media" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"shop_id" text COLLATE "C" NOT NULL,
	"hash" text COLLATE "C" NOT NULL,
	"created_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "media_sources" (
	"shop_id" text COLLATE "C" NOT NULL,
	"address" text COLLATE "C" NOT NULL,
	"media_id" text COLLATE "C" NOT NULL,
	CONSTRAINT "media_sources_shop_id_address_pk" PRIMARY KEY("shop_id","address")
);
--> statement-breakpoint
CREATE TABLE "media_usage" (
	"shop_id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"pictures" integer NOT NULL,
	"bytes" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "media_uses" (
	"media_id" text COLLATE "C" NOT NULL,
	"product_id" text COLLATE "C" NOT NULL,
	CONSTRAINT "media_uses_media_id_product_id_pk" PRIMARY KEY("media_id","product_id")
);
--> statement-breakpoint
CREATE TABLE "picture_files" (
	"hash" text COLLATE "C" NOT NULL,
	"width" integer NOT NULL,
	"height" integer NOT NULL,
	"type" text COLLATE "C" NOT NULL,
	"bytes" bigint NOT NULL,
	"digest" text COLLATE "C" NOT NULL,
	"store" text COLLATE "C" NOT NULL,
	"storage_name" text COLLATE "C" NOT NULL,
	CONSTRAINT "picture_files_hash_width_pk" PRIMARY KEY("hash","width")
);
--> statement-breakpoint
CREATE TABLE "pictures" (
	"hash" text COLLATE "C" PRIMARY KEY NOT NULL,
	"type" text COLLATE "C" NOT NULL,
	"width" integer NOT NULL,
	"height" integer NOT NULL,
	"frames" integer NOT NULL,
	"bytes" bigint NOT NULL,
	"created_at" bigint NOT NULL
);
--> statement-breakpoint
ALTER TABLE "media" ADD CONSTRAINT "media_shop_id_shops_id_fk" FOREIGN KEY ("shop_id") REFERENCES "public"."shops"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "media" ADD CONSTRAINT "media_hash_pictures_hash_fk" FOREIGN KEY ("hash") REFERENCES "public"."pictures"("hash") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "media_sources" ADD CONSTRAINT "media_sources_shop_id_shops_id_fk" FOREIGN KEY ("shop_id") REFERENCES "public"."shops"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "media_sources" ADD CONSTRAINT "media_sources_media_id_media_id_fk" FOREIGN KEY ("media_id") REFERENCES "public"."media"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "media_usage" ADD CONSTRAINT "media_usage_shop_id_shops_id_fk" FOREIGN KEY ("shop_id") REFERENCES "public"."shops"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "media_uses" ADD CONSTRAINT "media_uses_media_id_media_id_fk" FOREIGN KEY ("media_id") REFERENCES "public"."media"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "media_uses" ADD CONSTRAINT "media_uses_product_id_products_id_fk" FOREIGN KEY ("product_id") REFERENCES "public"."products"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "picture_files" ADD CONSTRAINT "picture_files_hash_pictures_hash_fk" FOREIGN KEY ("hash") REFERENCES "public"."pictures"("hash") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "media_picture" ON "media" USING btree ("shop_id","hash");--> statement-breakpoint
CREATE INDEX "media_shop" ON "media" USING btree ("shop_id","id");--> statement-breakpoint
CREATE INDEX "media_hash" ON "media" USING btree ("hash");--> statement-breakpoint
CREATE INDEX "media_sources_media" ON "media_sources" USING btree ("media_id");--> statement-breakpoint
CREATE INDEX "media_uses_product" ON "media_uses" USING btree ("product_id");--> statement-breakpoint
CREATE UNIQUE INDEX "picture_files_storage" ON "picture_files" USING btree ("storage_name");