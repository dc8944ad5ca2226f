CREATE TABLE "shop_hosts" (
	"shop_id" text COLLATE "C" NOT NULL,
	"host" text COLLATE "C" NOT NULL,
	"proof" text COLLATE "C" NOT NULL,
	"created_at" bigint NOT NULL,
	"verified_at" bigint,
	"checked_at" bigint,
	"missing_since" bigint,
	"version" integer NOT NULL,
	CONSTRAINT "shop_hosts_shop_id_host_pk" PRIMARY KEY("shop_id","host")
);
--> statement-breakpoint
ALTER TABLE "shop_hosts" ADD CONSTRAINT "shop_hosts_shop_id_shops_id_fk" FOREIGN KEY ("shop_id") REFERENCES "public"."shops"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "shop_hosts_verified" ON "shop_hosts" USING btree ("host") WHERE verified_at is not null;--> statement-breakpoint
CREATE INDEX "shop_hosts_checked" ON "shop_hosts" USING btree ("checked_at") WHERE verified_at is not null;